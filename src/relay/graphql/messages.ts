// Messages of the protocol graphql-transport-ws. Invariant: an invalid message closes the socket with 4400 and the
// reason.

import type { GraphQLFormattedError } from 'graphql'
import { CloseCode, type Message, MessageType, validateMessage } from 'graphql-ws'
import type { FailureCode } from '../../core/failure.ts'
import { isDeeperThan } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'

/** Close code and reason of a socket. */
export type Close = readonly [code: number, reason: string]

export const TOO_MANY_INITS: Close = [CloseCode.TooManyInitialisationRequests, 'Too many initialization requests']
export const INIT_TIMEOUT: Close = [CloseCode.ConnectionInitialisationTimeout, 'Connection initialization timeout']
export const UNAUTHORIZED: Close = [CloseCode.Unauthorized, 'Unauthorized']
/** A close reason holds at most 123 bytes, and an id character takes up to three. */
export const subscriberExists = (id: string): Close => [
  CloseCode.SubscriberAlreadyExists,
  `Subscriber for ${visible(id).slice(0, 30)} already exists`,
]

const MAX_DEPTH = 32
const MAX_ID_CHARS = 128
const CLIENT_TYPES: ReadonlySet<string> = new Set<string>([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
])

type ClientMessage = Extract<Message, { type: 'connection_init' | 'ping' | 'pong' | 'subscribe' | 'complete' }>

/** Returns a client message, or the close for an invalid one. */
export function readMessage(text: string): Result<ClientMessage, Close> {
  if (isDeeperThan(text, MAX_DEPTH)) return badMessage(`nested deeper than ${MAX_DEPTH}`)
  try {
    const message = validateMessage(JSON.parse(text))
    if (!CLIENT_TYPES.has(message.type)) return badMessage(`${message.type} is not sent by clients`)
    if ('id' in message && message.id.length > MAX_ID_CHARS)
      return badMessage(`id: longer than ${MAX_ID_CHARS} characters`)
    return ok(message as ClientMessage)
  } catch (error) {
    return badMessage(error instanceof SyntaxError ? 'not valid JSON' : reasonOf(error))
  }
}

function badMessage(reason: string): Result<never, Close> {
  return err([CloseCode.BadRequest, `Invalid message: ${reason}`.slice(0, 120)])
}

/** Removes the received value from the library's message, because it comes from the client and may be anything. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : ''
  return /^[\x20-\x7e]+$/.test(text) ? text.replace(/, but got .*/, '') : 'not a protocol message'
}

export const ACK = `{"type":"${MessageType.ConnectionAck}"}`

export function pingText(nonce: string): string {
  return `{"type":"${MessageType.Ping}","payload":{"nonce":"${nonce}"}}`
}

/**
 * A pong with the same fields as on /ws. The relay generates `nonce`. `height` is the last block whose events were all
 * sent, or -1 if unknown.
 */
export function pongText(nonce?: string, height = -1): string {
  if (nonce === undefined) return `{"type":"${MessageType.Pong}"}`
  return `{"type":"${MessageType.Pong}","payload":{"nonce":"${nonce}"${height < 0 ? '' : `,"block_height":${height}`}}}`
}

/** The start of a `next` message. Append the payload and a closing brace. */
export function nextHead(id: string): string {
  return `{"id":${JSON.stringify(id)},"type":"${MessageType.Next}","payload":`
}

export function completeText(id: string): string {
  return `{"id":${JSON.stringify(id)},"type":"${MessageType.Complete}"}`
}

/** Message that ends an operation with errors. */
export function errorText(id: string, errors: readonly GraphQLFormattedError[]): string {
  return `{"id":${JSON.stringify(id)},"type":"${MessageType.Error}","payload":${JSON.stringify(errors)}}`
}

/**
 * A failure with a message for people and a machine-readable code. Authentication codes are those of the specification.
 */
export interface GraphqlFailure {
  readonly message: string
  readonly code: 'MISSING_TOKEN' | 'INVALID_TOKEN' | 'AUTH_SYSTEM_ERROR' | Uppercase<FailureCode> | (string & {})
}

/** GraphQL code of a /ws code. */
export function graphqlCode(code: string): string {
  return code === 'unauthorized' ? 'INVALID_TOKEN' : code.toUpperCase()
}

/** The payload that the specification defines. */
export function failurePayload({ message, code }: GraphqlFailure): string {
  return JSON.stringify({ errors: [{ message, extensions: { code } }] })
}

/** A result with an error instead of data. The operation continues. */
export function failureEvent(alias: string, { message, code }: GraphqlFailure): string {
  return JSON.stringify({ data: { [alias]: null }, errors: [{ message, path: [alias], extensions: { code } }] })
}
