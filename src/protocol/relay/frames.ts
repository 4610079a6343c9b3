// Frames to a client other than channel data, which the channel files write. Invariant: a frame is built once, and the
// same string is sent to every socket.

import { formatCredits } from '../../core/amount.ts'

/** Maximum length of an echo in an error. Real frames are far shorter; 1,000 addresses would take 90 KB. */
export const ECHO_CHARS = 4096

export const PONG = '{"channel":"pong"}'

/**
 * The client returns the nonce with its next ping, which proves that it reads. `height` is the last sent block, or -1
 * if none was sent.
 */
export function pongFrame(nonce: string, height: number): string {
  return `{"channel":"pong","nonce":"${nonce}"${height < 0 ? '' : `,"block_height":${height}`}}`
}

/** `code` is a FailureCode or a stream code (`already_subscribed`, `replay_unavailable`, `gap`, …). */
export function errorFrame(text: string, code: string): string {
  return `{"channel":"error","data":${JSON.stringify(text)},"code":${JSON.stringify(code)}}`
}

/**
 * First low-credit warning. It is not an error, so it is sent on the public server's notification channel. `left` is in
 * micro-credits.
 */
export function lowCreditsFrame(left: number): string {
  return notificationFrame(
    `Credits are low: ${formatCredits(left)} remain, which is a tenth or less of the period's credits. Top up the account.`,
  )
}

/** Second and last warning. */
export function lastMinuteFrame(nextMinute: number, remaining: number): string {
  const next = `the next minute of all subscriptions costs ${formatCredits(nextMinute)}, but only ${formatCredits(remaining)} remain`
  return notificationFrame(`Credits are low: ${next}. Top up the account, or this connection closes after this minute.`)
}

/** Sent while a subscription waits in the queue for books. */
export function waitingFrame(type: string, waitedMs: number): string {
  const since = `for ${Math.round(waitedMs / 1000)} s without charge, because many clients are requesting books`
  return notificationFrame(`A subscription to ${type} has been queued ${since}.`)
}

/** Sent to a charged subscription that waits for a Snapshot. */
export function waitingForSnapshot(type: string, waitedMs: number): string {
  const since = `for ${Math.round(waitedMs / 1000)} s. Its paid minute is paused until the Snapshot arrives`
  return notificationFrame(`A subscription to ${type} has waited for its Snapshot ${since}.`)
}

/** Sent when no block has come for this long. */
export function staleFrame(ms: number): string {
  return notificationFrame(
    `No block has come for ${Math.round(ms / 1000)} s. The last data sent is the latest known.`,
    'stale',
  )
}
export const FRESH_FRAME = notificationFrame('Blocks are coming again.', 'fresh')

/** Sent to a client whose oldest unread frame is at least this old. */
export function lateFrame(ageMs: number): string {
  const age = `Your unread data is at least ${Math.floor(ageMs / 1000)} s old`
  return notificationFrame(
    `${age}, because it arrives faster than you read it. Read faster or subscribe to less.`,
    'late',
    ageMs,
  )
}

/** A notice on the public server's notification channel. `code` is machine-readable. */
export function notificationFrame(
  text: string,
  code?: 'stale' | 'fresh' | 'ignored_field' | 'late',
  ageMs?: number,
): string {
  return JSON.stringify({ channel: 'notification', data: { notification: text }, code, age_ms: ageMs })
}

/** `echo` is the JSON of the subscription as sent. */
export function ackFrame(method: 'subscribe' | 'unsubscribe', echo: string): string {
  return `{"channel":"subscriptionResponse","data":{"method":"${method}","subscription":${echo}}}`
}

/** `reason` names the field and the fix. It comes after the JSON, because SDKs search the message for the JSON. */
export function invalidSubscription(echo: string, reason: string, code = 'invalid_request'): string {
  return errorFrame(`Invalid subscription${bounded(' ', echo)}: ${reason}`, code)
}

export function alreadySubscribed(echo: string): string {
  return errorFrame(`Already subscribed${bounded(': ', echo)}`, 'already_subscribed')
}

export function alreadyUnsubscribed(echo: string): string {
  return errorFrame(`Already unsubscribed${bounded(': ', echo)}`, 'already_unsubscribed')
}

/**
 * Rejects a malformed frame in the public server's format. `reason` names the field and the fix. `postId` is the `id`
 * of a readable `post`. SDKs look for it at the very end of the message.
 */
export function invalidRequest(sent: string, reason: string, code: string, postId: number | null): string {
  const echo = bounded(': ', sent)
  const end = echo === '' && postId !== null ? `: id=${postId}` : ''
  return errorFrame(`Error parsing JSON into valid websocket request${echo}: ${reason}${end}`, code)
}

export function missingBlocks(from: number, to: number): string {
  return `Blocks ${from} to ${to} are missing, and so are their events.`
}

/** `fromBlock` cannot be served. `why` names the block and the reason. */
export function replayUnavailable(echo: string, why: string): string {
  return errorFrame(`Not replayed${bounded(': ', echo)}: fromBlock: ${why}; live data follows.`, 'replay_unavailable')
}

/** State change of a replay; `echo` is the JSON of its body as sent. */
export function replayFrame(echo: string, event: string, more: Readonly<Record<string, number>> = {}): string {
  const fields = Object.entries(more).map(([name, value]) => `,"${name}":${value}`)
  return `{"channel":"replay","data":{"event":"${event}","subscription":${echo}${fields.join('')}}}`
}

/** Returns the whole echo or an empty string, because SDKs parse the braces and crash on half an object. */
function bounded(before: string, echo: string): string {
  return echo.length > ECHO_CHARS ? '' : before + echo
}

/** `body` is the JSON string of an info response, embedded unchanged. */
export function postFrame(id: number, type: string, body: string, nextCursor?: string): string {
  const next = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`
  return `{"channel":"post","data":{"id":${id},"response":{"type":"info","payload":{"type":${JSON.stringify(type)},"data":${body}${next}}}}}`
}

export function postErrorFrame(id: number, text: string): string {
  return `{"channel":"post","data":{"id":${id},"response":{"type":"error","payload":${JSON.stringify(text)}}}}`
}
