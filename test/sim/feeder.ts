// A feeder in virtual time: the product's own parts, combined as in feeder.node.ts, on a connection to the log that can
// break. It reads the node's lines, serves the gateway's requests, writes checkpoints, and can crash.

import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { PULSE_MS } from '../../src/protocol/feed/protocol.ts'
import { ModelFeeder } from '../feeder/model-feeder.ts'
import type { ModelNode } from '../feeder/model-node.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'
import type { Schedule } from './schedule.ts'
import type { End } from './wire.ts'

const READ_MS = 50
const SECOND_MS = 1000
const CHECKPOINT_MS = 700
const VERIFY_MS = 9000
/** Of the node's own HTTP, where whole books come from. */
const SNAPSHOT_MS = 300
const RETRY_MS = 1000
const BLOCKS_AT_ONCE = 20
const ROOM = 100_000

interface FeederPorts {
  readonly schedule: Schedule
  readonly node: ModelNode
  /** Lowest height that the node's files have. */
  first(): number
  /** Null where the log cannot be reached. */
  dial(): Promise<End | null>
}

export class SimFeeder {
  readonly name: string
  readonly #ports: FeederPorts
  #model: ModelFeeder | null = null
  #checkpoints: string[][] = []
  /** One that waits until its height is durable. */
  #held: { readonly height: number; readonly lines: string[] } | null = null
  #end: End | null = null
  /** Counts lives and connections: what an earlier one had asked for is ignored. */
  #life = 0
  #connection = 0
  #drop: () => void = () => undefined

  constructor(name: string, ports: FeederPorts) {
    this.name = name
    this.#ports = ports
  }

  get isRunning(): boolean {
    return this.#model !== null
  }

  /** Diffs that did not fit its books. */
  get misfits(): number {
    return this.#model?.keeper.misfits ?? 0
  }

  start(): void {
    if (this.#model) return
    this.#life++
    this.#model = new ModelFeeder(this.#ports.node, this.#checkpoints, () => this.#ports.first(), this.name)
    this.#every(READ_MS, () => this.#read())
    this.#every(SECOND_MS, () => this.#second())
    this.#every(PULSE_MS, () => this.#pulse())
    this.#every(CHECKPOINT_MS, () => this.#checkpoint())
    this.#every(VERIFY_MS, (model) => model.verify())
    this.#every(SNAPSHOT_MS, (model) => model.snapshot())
    void this.#connect()
  }

  /** As by SIGKILL: `losing` some of its checkpoints. */
  kill(losing: number): void {
    this.#life++
    this.#model = null
    this.#held = null
    this.#checkpoints = this.#checkpoints.slice(losing)
    this.#hangUp()
  }

  #every(ms: number, run: (model: ModelFeeder) => void): void {
    const { schedule } = this.#ports
    const life = this.#life
    const again = () => {
      if (life !== this.#life || !this.#model) return
      run(this.#model)
      schedule.after(ms, again)
    }
    schedule.after(schedule.below(ms), again)
  }

  #hangUp(): void {
    this.#connection++
    this.#model?.session.onClose()
    this.#end?.close(1001)
    this.#end = null
  }

  async #connect(): Promise<void> {
    const { schedule, dial } = this.#ports
    const life = this.#life
    const connection = ++this.#connection
    const isOld = () => life !== this.#life || connection !== this.#connection
    const end = await dial().catch(() => null)
    if (isOld()) return end?.close(1001)
    if (!end) return void schedule.after(RETRY_MS, () => !isOld() && this.#connect())
    this.#end = end
    const ended = () => {
      if (isOld()) return
      this.#hangUp()
      const next = this.#connection
      schedule.after(schedule.between(50, RETRY_MS), () => next === this.#connection && this.#connect())
    }
    this.#drop = ended
    end.addEventListener('message', ({ data }) => !isOld() && this.#hear(JSON.parse(data!) as GatewayFrame))
    end.addEventListener('close', ended)
    end.addEventListener('error', ended)
    end.accept()
    // The log may have died since it took the call.
    if (!isOld()) end.send(this.#model!.connect(schedule.nowMs))
  }

  #hear(frame: GatewayFrame): void {
    const orders = this.#model!.received(frame, this.#ports.schedule.nowMs)
    // Refused for good: it asks again, as a feeder does that was started anew.
    if (orders.some((order) => order.do === 'refused')) this.#drop()
    this.#flush()
  }

  #read(): void {
    this.#model!.work(BLOCKS_AT_ONCE)
    this.#flush()
  }

  #flush(): void {
    if (this.#end?.readyState !== 1) return
    for (const text of this.#model!.session.drain(this.#ports.schedule.nowMs, ROOM)) this.#end.send(text)
  }

  #second(): void {
    const { nowMs } = this.#ports.schedule
    if (this.#model!.session.overdueReason(nowMs) !== null) this.#drop()
  }

  #pulse(): void {
    const { keeper, session } = this.#model!
    const counts = { ...ZERO_COUNTERS, unacked: session.unacked }
    const { nowMs } = this.#ports.schedule
    const text = session.encodePulse(
      { now: nowMs, head: keeper.position?.height ?? null, time: nowMs, state: 'well', ...counts },
      nowMs,
    )
    if (text !== null && this.#end?.readyState === 1) this.#end.send(text)
  }

  #checkpoint(): void {
    const { durable } = this.#model!.session
    if (this.#held && durable !== null && durable >= this.#held.height) {
      this.#checkpoints = [this.#held.lines, ...this.#checkpoints].slice(0, 2)
      this.#held = null
    } else this.#held ??= this.#model!.checkpoint()
  }
}
