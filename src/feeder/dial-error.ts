// Messages that say why the gateway cannot be reached and what to do. Invariant: text from the other side is escaped.

/** How a dial failed. */
export type DialFailure =
  /** The other side answered the upgrade with an HTTP response. `retryAfter`: its Retry-After header. */
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  /** `code`: error code of the system or the TLS library; '' if there is none. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

/** Why there is no connection to the gateway. */
export interface LinkError {
  readonly state: 'refused by the gateway' | 'cannot reach the gateway'
  readonly why: string
  /** Shortest time until the next dial; null if there is none. */
  readonly retryMs: number | null
}

/** Shortest retry interval after an error that the operator has to fix. */
const REFUSED_RETRY_MS = 5_000
/** Longest retry interval that the gateway may request. */
const RETRY_MAX_MS = 60_000

/** `host`: host and port of the gateway. */
export function dialError(failure: DialFailure, host: string): LinkError {
  if (failure.kind === 'failed')
    return { state: 'cannot reach the gateway', why: networkMessage(failure, host), retryMs: null }
  const { status, retryAfter } = failure
  const why = httpMessage(status)
  if (status >= 500) return { state: 'cannot reach the gateway', why, retryMs: null }
  const requestedMs = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : 0
  return {
    state: 'refused by the gateway',
    why,
    retryMs: Math.min(RETRY_MAX_MS, Math.max(REFUSED_RETRY_MS, requestedMs)),
  }
}

function httpMessage(status: number): string {
  switch (status) {
    case 401:
      return "the gateway rejected the feed token. Set FEED_TOKEN (or --token) to the gateway's FEED_TOKEN"
    case 403:
      return 'a proxy or firewall in front of the gateway rejected the feeder (403). Check its access rules'
    case 404:
      return "/feed was not found (404). Set FEED_TOKEN on the gateway (at least 32 characters), or check that --gateway is the gateway's URL"
    case 426:
      return 'the WebSocket upgrade was lost (426). Configure the proxy in front of the gateway to forward upgrades'
    case 429:
      return 'too many connections with a wrong token from this address (429). Check FEED_TOKEN (or --token)'
  }
  if (status >= 500)
    return `the gateway, or a proxy in front of it, returned ${status}: it is down or restarting. If this lasts, check its log`
  if (status >= 300 && status < 400)
    return `the URL redirects (${status}). Set --gateway to the target, for example https:// instead of http://`
  return `the URL is not a gateway's (${status}). Check --gateway, and whether a proxy in front of it forwards WebSocket upgrades`
}

const TLS_NOT_SPOKEN = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])
const CERTIFICATE =
  /^(?:ERR_TLS_|CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|INVALID_CA|HOSTNAME_MISMATCH)/

function networkMessage({ code, message }: Extract<DialFailure, { kind: 'failed' }>, host: string): string {
  if (CERTIFICATE.test(code))
    return `the certificate of ${host} is not trusted (${code}). Check the name in --gateway, the certificate's dates and this machine's clock`
  if (TLS_NOT_SPOKEN.has(code)) return `${host} does not speak TLS. Use http:// in --gateway, or another port`
  if (code.startsWith('HPE_')) return `the server at ${host} does not speak HTTP. Check the host and port of --gateway`
  switch (code) {
    case 'ENOTFOUND':
      return `host not found: ${host}. Check --gateway`
    case 'EAI_AGAIN':
      return `cannot resolve ${host}. Check this machine's DNS and network`
    case 'ECONNREFUSED':
      return `connection refused by ${host}. Start the gateway, or check the port in --gateway`
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return `${host} is unreachable. Check this machine's network`
    case 'ECONNRESET':
    case 'EPIPE':
      return `${host} closed the connection during the handshake. It may be restarting; otherwise, try https:// in --gateway`
  }
  if (code === 'ETIMEDOUT' || /timed out/.test(message))
    return `${host} did not answer in time. Check the firewall in between, and whether the gateway hangs`
  return `${host}: ${JSON.stringify((code ? `${code}: ` : '') + message)
    .slice(1, -1)
    .slice(0, 200)}`
}
