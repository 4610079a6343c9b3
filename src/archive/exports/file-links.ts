// Links to files: whoever has one may fetch the file until it expires, without a key. Pure: what is signed, and what a link
// says; the signature itself is core/signature.client.ts.

export const LINK_MS = 60 * 60_000

/** A file of a chain, until a moment, Unix ms. */
export interface FileLink {
  readonly chain: string
  readonly key: string
  readonly expires: number
}

/** No other text that is signed with the same secret begins so. */
export function signedText({ chain, key, expires }: FileLink): string {
  return `weir file link\n${chain}\n${key}\n${expires}`
}

/** The link, from the root of the gateway on. */
export function linkPath({ chain, key, expires }: FileLink, signature: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/')
  return `/v1/${encodeURIComponent(chain)}/history/files/${path}?expires=${expires}&sig=${signature}`
}

type ReadLink = { readonly expires: number; readonly signature: string }

/** What stands behind `?`, where all values of a name are asked for; or which parameter is wrong. */
export function readLink(valuesOf: (name: string) => readonly string[]): ReadLink | 'expires' | 'sig' {
  const [expires, ...others] = valuesOf('expires')
  const [signature, ...more] = valuesOf('sig')
  if (expires === undefined || others.length > 0 || !/^[1-9]\d{0,14}$/.test(expires)) return 'expires'
  if (signature === undefined || more.length > 0 || !/^[\w-]{43}$/.test(signature)) return 'sig'
  return { expires: Number(expires), signature }
}
