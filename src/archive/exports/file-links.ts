// Signed links to files, which work without an API key until they expire. This file is pure: it builds the string to
// sign and parses links. core/signature.client.ts computes the signature.

export const LINK_MS = 60 * 60_000

/** A file of a chain, and the expiry time in Unix ms. */
export interface FileLink {
  readonly chain: string
  readonly key: string
  readonly expires: number
}

/** The string to sign. Its prefix is unique among all strings signed with this secret. */
export function signedText({ chain, key, expires }: FileLink): string {
  return `weir file link\n${chain}\n${key}\n${expires}`
}

/** Path of the link. */
export function linkPath({ chain, key, expires }: FileLink, signature: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/')
  return `/v1/${encodeURIComponent(chain)}/history/files/${path}?expires=${expires}&sig=${signature}`
}

type ReadLink = { readonly expires: number; readonly signature: string }

/** Parses the query string. Returns the name of a parameter that is invalid. */
export function readLink(valuesOf: (name: string) => readonly string[]): ReadLink | 'expires' | 'sig' {
  const [expires, ...others] = valuesOf('expires')
  const [signature, ...more] = valuesOf('sig')
  if (expires === undefined || others.length > 0 || !/^[1-9]\d{0,14}$/.test(expires)) return 'expires'
  if (signature === undefined || more.length > 0 || !/^[\w-]{43}$/.test(signature)) return 'sig'
  return { expires: Number(expires), signature }
}
