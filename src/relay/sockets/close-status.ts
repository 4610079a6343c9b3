// HTTP statuses of WebSocket closes, for the request log.

const STATUSES: Readonly<Record<number, number>> = {
  1002: 400,
  1003: 400,
  1007: 400,
  1008: 429,
  1009: 413,
  1011: 500,
  1012: 503,
  1013: 503,
}

/** Our own codes are 4000 and an HTTP status. Normal closes, lost connections and codes of the client count as 200. */
export function closeStatus(code: number): number {
  return code >= 4400 && code < 4600 ? code - 4000 : (STATUSES[code] ?? 200)
}
