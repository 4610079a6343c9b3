// One subscription of a GraphQL socket. To the relay's engines it is a client of its own, with a body and frames as on
// /ws; this is the sink at its end, which turns frames into results. Laws: a frame of its channel is one `next`; after
// `complete` from either side nothing more is sent under its id; what is refused or ends is told why.

import type { AnyStateChannel } from '../channel.ts'
import type { Asked } from './document.ts'
import { codeOf, completeText, nextHead, type Wrong, wrongEvent, wrongPayload } from './messages.ts'
import type { SharedPlan } from './shared-plans.ts'

/** Of the socket. */
export interface OperationPorts {
  send(text: string): void
  /** It is over by the relay's doing. */
  over(): void
}

/** Errors of /ws after which a subscription goes on. */
const GOES_ON: ReadonlySet<string> = new Set(['gap', 'replay_unavailable'])
/** How /ws says that a body is no subscription, or is none any more. */
const REFUSED = 'Invalid subscription'

export class Operation {
  readonly #id: string
  readonly #head: string
  readonly #alias: string
  readonly #echo: string
  readonly #plan: SharedPlan
  readonly #ports: OperationPorts
  /** How frames of its channel begin. */
  readonly #prefix: string
  #isOver = false
  #isTold = false

  constructor(
    id: string,
    { alias, echo, wanted }: Pick<Asked, 'alias' | 'echo' | 'wanted'>,
    plan: SharedPlan,
    ports: OperationPorts,
  ) {
    this.#id = id
    this.#head = nextHead(id)
    this.#alias = alias
    this.#echo = echo
    this.#plan = plan
    this.#ports = ports
    const { channel, body } = wanted
    const { type, frames = type, framesOf } = channel as AnyStateChannel
    this.#prefix = `{"channel":"${framesOf?.(body) ?? frames}",`
  }

  /** A frame of /ws for this body. */
  send(frame: string): void {
    if (this.#isOver) return
    if (frame.startsWith(this.#prefix)) return this.#ports.send(`${this.#head}${this.#plan.payload(frame)}}`)
    const { channel, data, code } = JSON.parse(frame) as { channel: string; data: string; code: string }
    // An acknowledgement, or a remark.
    if (channel !== 'error') return
    const wrong = { message: data, code: codeOf(code) }
    if (GOES_ON.has(code)) this.#ports.send(`${this.#head}${wrongEvent(this.#alias, wrong)}}`)
    else if (!data.startsWith(REFUSED)) this.#tell(wrong)
    else {
      this.#tell({ ...wrong, message: this.#reasonOf(data) })
      this.#end()
    }
  }

  /** The relay ends what it is a client of. */
  close(_: number, reason: string): void {
    if (this.#isOver) return
    if (!this.#isTold) this.#tell({ message: `${reason}.`, code: 'UNAVAILABLE' })
    this.#end()
  }

  /** The client has ended it: nothing more is said of it. */
  gone(): void {
    this.#isOver = true
  }

  #tell(wrong: Wrong): void {
    this.#isTold = true
    this.#ports.send(`${this.#head}${wrongPayload(wrong)}}`)
  }

  #end(): void {
    this.#isOver = true
    this.#ports.send(completeText(this.#id))
    this.#ports.over()
  }

  /** Without what /ws says of the body, which the client did not send. */
  #reasonOf(text: string): string {
    const rest = text.slice(REFUSED.length)
    const echo = ` ${this.#echo}`
    return (rest.startsWith(echo) ? rest.slice(echo.length) : rest).replace(/^: /, '')
  }
}
