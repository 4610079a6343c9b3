// Which compression a caller takes, as its `Accept-Encoding` says.

/** In the order of our preference, which decides between equal ones. */
const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The one that the caller likes best, null for none: also without the header, or with `q=0`. */
export function acceptedEncoding(header: string | null): Encoding | null {
  if (header === null) return null
  const qualities = new Map(header.toLowerCase().split(',').map(qualityOf))
  let best: Encoding | null = null
  let bestQuality = 0
  for (const encoding of ENCODINGS) {
    const quality = qualities.get(encoding) ?? qualities.get('*') ?? 0
    if (quality <= bestQuality) continue
    best = encoding
    bestQuality = quality
  }
  return best
}

/** `gzip;q=0.5` as name and quality; one that is no number between 0 and 1 counts as not acceptable. */
function qualityOf(item: string): [name: string, quality: number] {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const quality = weight === undefined ? 1 : Number(weight)
  return [name === 'x-gzip' ? 'gzip' : name, quality > 0 && quality <= 1 ? quality : 0]
}
