// How the close of a client is answered. Law: every close is answered, whatever its code, so that the platform lets go of
// the socket: one that it cannot answer stays open, uncounted.

/** Which the protocol leaves for what never travels. */
const UNSENDABLE: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015])

/** The code to answer with; undefined: none, as the client's. One that may not be sent is an error of the protocol. */
export function answerTo(code: number): number | undefined {
  if (code === 1005 || code === 1006) return undefined
  return code >= 1000 && code < 5000 && !UNSENDABLE.has(code) ? code : 1002
}
