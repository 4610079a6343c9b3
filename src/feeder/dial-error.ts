// Why a connection to the gateway is not to be had, as a sentence that says what to do. Law: nothing of what the other
// side sent stands in it unescaped.

/** How a dial ended. */
export type DialFailure =
  /** The other side answered the upgrade with HTTP; `retryAfter` is its header. */
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  /** `code` is the system's or the TLS library's, '' where it has none. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

/** What stands between feeder and gateway. */
export interface LinkError {
  readonly state: 'refused by the gateway' | 'cannot reach the gateway'
  readonly why: string
  /** Dialling sooner is of no use; null: as soon as ever. */
  readonly retryMs: number | null
}

/** What an operator has to change is asked for again at this pace … */
const REFUSED_RETRY_MS = 5_000
/** … or at the pace that was asked for, at most this. */
const RETRY_MAX_MS = 60_000

/** `host` is the gateway's, with its port. */
export function dialError(failure: DialFailure, host: string): LinkError {
  if (failure.kind === 'failed')
    return { state: 'cannot reach the gateway', why: networkMessage(failure, host), retryMs: null }
  const { status, retryAfter } = failure
  const why = httpMessage(status)
  if (status >= 500) return { state: 'cannot reach the gateway', why, retryMs: null }
  const asked = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : 0
  return {
    state: 'refused by the gateway',
    why,
    retryMs: Math.min(RETRY_MAX_MS, Math.max(REFUSED_RETRY_MS, asked)),
  }
}

function httpMessage(status: number): string {
  switch (status) {
    case 401:
      return "the gateway refused the feed token: set FEED_TOKEN (or --token) to the gateway's"
    case 403:
      return 'something before the gateway turns the feeder away (403): look at its access rules'
    case 404:
      return "/feed does not exist there: FEED_TOKEN is unset at the gateway or shorter than 32 characters, or the URL is not a gateway's"
    case 426:
      return 'the upgrade to a WebSocket did not arrive (426): a proxy between must pass upgrades on'
    case 429:
      return 'too many dials with a wrong token came from this address (429): check FEED_TOKEN (or --token)'
  }
  if (status >= 500)
    return `the gateway, or what stands before it, answers ${status}: it is down or restarting; where that lasts, look at its log`
  if (status >= 300 && status < 400)
    return `the URL leads elsewhere (${status}): give --gateway the address that it leads to, such as https:// for http://`
  return `a page is there, not a gateway (${status}): check --gateway, and that a proxy between passes WebSocket upgrades on`
}

const TLS_NOT_SPOKEN = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])
const CERTIFICATE =
  /^(?:ERR_TLS_|CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|INVALID_CA|HOSTNAME_MISMATCH)/

function networkMessage({ code, message }: Extract<DialFailure, { kind: 'failed' }>, host: string): string {
  if (CERTIFICATE.test(code))
    return `the certificate of ${host} is not trusted (${code}): check the name in --gateway, the certificate's dates and this machine's clock`
  if (TLS_NOT_SPOKEN.has(code)) return `${host} does not speak TLS: use http:// in --gateway, or another port`
  if (code.startsWith('HPE_')) return `what answers at ${host} does not speak HTTP: check host and port of --gateway`
  switch (code) {
    case 'ENOTFOUND':
      return `no such host: ${host}. Check --gateway`
    case 'EAI_AGAIN':
      return `the name ${host} cannot be looked up now: check this machine's DNS and network`
    case 'ECONNREFUSED':
      return `nothing listens at ${host}: the gateway is not up, or the port in --gateway is another`
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return `there is no way to ${host}: check this machine's network`
    case 'ECONNRESET':
    case 'EPIPE':
      return `${host} cut the connection while it was made: the gateway restarts, or https:// is needed`
  }
  if (code === 'ETIMEDOUT' || /timed out/.test(message))
    return `${host} did not answer in time: a firewall between drops the connection, or the gateway hangs`
  return `${host}: ${JSON.stringify((code ? `${code}: ` : '') + message)
    .slice(1, -1)
    .slice(0, 200)}`
}
