// Where a caller sends from: the one thing that is known of it before its key is.

/** What a request tells; null where the address is unknown, or could be the caller's own invention. */
export function callerAddress(isProxyTrusted: boolean, headers: { get(name: string): string | null }): string | null {
  return isProxyTrusted ? headers.get('cf-connecting-ip') : null
}
