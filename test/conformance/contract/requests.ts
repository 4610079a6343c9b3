// Sends requests over real sockets and reads the response in the promised format. Other formats are returned unchanged,
// so that a test notices them.

import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Socket } from '../../kit/socket.ts'
import type { Carried, Convention, Door } from './table.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly socket?: Duplex
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Carried['headers']
  readonly body?: string
}

/** One request, as it is written; of an upgrade that is taken the socket. */
export async function send(url: string, { method, path, headers, body }: Sent, isUpgrade = false): Promise<Answer> {
  const { hostname, port } = new URL(url)
  // Not made of a URL, which would tidy the path.
  const asked = request({
    hostname,
    port,
    path,
    method,
    headers: { ...(isUpgrade ? UPGRADE : {}), ...headers } as never,
  })
  const upgraded = once(asked, 'upgrade').then(([answer, socket]) => [answer, socket] as [IncomingMessage, Duplex])
  const answered = once(asked, 'response').then(([answer]) => [answer] as [IncomingMessage])
  asked.end(body)
  const [answer, socket] = await Promise.race([upgraded, answered])
  upgraded.catch(() => undefined)
  answered.catch(() => undefined)
  const shared = { status: answer.statusCode!, headers: answer.headers }
  return socket ? { ...shared, text: '', socket } : { ...shared, text: await text(answer) }
}

/** The outcome in the words of the table; `socket` stays open where one was opened. */
export interface Outcome {
  readonly words: string
  readonly answer: Answer | null
  readonly close: () => void
}

export async function knock(url: string, door: Door, carried: Carried): Promise<Outcome> {
  if (door.convention === 'graphql') return subscribe(url, carried)
  const { method, body } = door
  const path = `${carried.prefix ?? ''}${door.path}${carried.query ?? ''}`
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  const sent = { method, path, headers: { ...content, ...carried.headers } }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await send(url, { ...sent, ...text }, door.path === '/ws')
  return { words: wordsOf(door.convention, answer), answer, close: () => void answer.socket?.destroy() }
}

/** Status and code where the refusal is worded as its convention is, all of it where it is not. */
export function wordsOf(convention: Convention, answer: Answer, method = ''): string {
  const { status, headers } = answer
  if (method === 'HEAD') return `${status}`
  if (status < 400 && !(convention === 'rpc' && answer.text.includes('"error"'))) return `${status}`
  const body = parsed(answer.text)
  const code = CODES[convention](body, status)
  const isWorded =
    code !== null && headers['content-type'] === 'application/json' && /^req_/.test(`${headers['x-request-id']}`)
  const isQuoted = convention !== 'info' || (body as Fields).request_id === headers['x-request-id']
  const isTimed = (status !== 429 && status !== 503) || /^[1-9]\d*$/.test(headers['retry-after'] ?? '')
  if (!isWorded || !isQuoted || !isTimed)
    return `not by convention: ${status} ${JSON.stringify(headers)} ${answer.text}`
  return code === '' ? `${status}` : `${status} ${code}`
}

type Fields = Readonly<Record<string, unknown>>
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
const namesOf = (body: unknown) =>
  Object.keys((body ?? {}) as object)
    .sort()
    .join()
const isText = (value: unknown) => typeof value === 'string' && value.length > 10

/** The code of a refusal of so worded a body, null where it is worded otherwise. */
const CODES: Readonly<Record<Convention, (body: unknown, status: number) => string | null>> = {
  info: (body, status) => {
    const { code, error, msg, message } = (body ?? {}) as Fields
    const hasError = !(status === 401 || status === 429 || status >= 500)
    const isWhole = isText(msg) && msg === message && error === (hasError ? code : undefined)
    const own = namesOf(body).replace(/,limit(?=,)|,most(?=,)|,types?(?=,|$)/g, '')
    return isWhole && own === `code,${hasError ? 'error,' : ''}message,msg,request_id` ? `${code}` : null
  },
  rest: (body, status) => {
    const { error, error_message, error_code } = (body ?? {}) as Fields
    const isWhole = error === true && isText(error_message) && error_code === `${status}`
    return isWhole && namesOf(body) === 'error,error_code,error_message' ? '' : null
  },
  rpc: (body) => {
    const codes = (Array.isArray(body) ? body : [body]).map((each: Fields) => {
      const { code, message } = (each?.error ?? {}) as Fields
      const isWhole = each?.jsonrpc === '2.0' && namesOf(each) === 'error,id,jsonrpc' && isText(message)
      return isWhole && namesOf(each.error) === 'code,message' ? code : null
    })
    return codes.includes(null) ? null : [...new Set(codes)].join()
  },
  graphql: (body) => {
    const { errors } = (body ?? {}) as { errors?: readonly { message: unknown; extensions: Fields }[] }
    const [first] = errors ?? []
    const isWhole = errors?.length === 1 && namesOf(body) === 'errors' && namesOf(first) === 'extensions,message'
    return isWhole && isText(first!.message) && namesOf(first!.extensions) === 'code'
      ? `${first!.extensions.code}`
      : null
  },
}

const BOOK = 'subscription { l2BookDiff(coin: "BTC") { data { Snapshot { coin } } } }'

/** A socket of /graphql; `next` is what came and was not read yet, or `close <code>`. */
export async function graphqlSocket(url: string, { query = '', headers = {} }: Carried = {}) {
  const address = `${url.replace('http', 'ws')}/graphql${query}`
  const socket = await Socket.open<Fields>(address, headers as Record<string, string>, ['graphql-transport-ws'])
  const next = (): Promise<Fields | string> =>
    socket.next(({ type }) => type !== 'ping', 60_000).catch(() => `close ${socket.closed?.code}`)
  return { next, send: (frame: unknown) => socket.send(frame), close: () => socket.close() }
}

async function subscribe(url: string, carried: Carried): Promise<Outcome> {
  const { next, send, close } = await graphqlSocket(url, carried)
  const end = (words: string): Outcome => ({ words, answer: null, close })
  send({ type: 'connection_init', ...(carried.payload && { payload: carried.payload }) })
  const ack = await next()
  if (typeof ack === 'string' || ack.type !== 'connection_ack') return end(`no ack: ${JSON.stringify(ack)}`)
  send({ id: 'one', type: 'subscribe', payload: { query: BOOK } })
  const first = await next()
  if (typeof first === 'string' || first.type !== 'next') return end(`no next: ${JSON.stringify(first)}`)
  const code = CODES.graphql(first.payload, 0)
  if (code === null) return end((first.payload as Fields).data ? 'data' : `not by convention: ${JSON.stringify(first)}`)
  const last = await next()
  return end(typeof last === 'object' && last.type === 'complete' ? code : `no complete: ${JSON.stringify(last)}`)
}
