// What a relay and the meter of an account tell each other about streams: minutes, sockets, revoked keys. Types alone.
// Times are durations, never moments: the two clocks are not compared.

import type { MicroCredits } from '../../core/amount.ts'
import type { KeyHash } from '../../core/ids.ts'

/** What a relay asks to be paid: a first minute before the ack, each later one once it has started. */
export interface MinuteCharge {
  /** Unique for ever: name of the relay, a slash, an id. */
  readonly subscription: string
  /** 0: the first. A minute is charged at most once, however often it is asked for. */
  readonly ordinal: number
  readonly keyHash: KeyHash
  /** Wire type that usage is recorded under. */
  readonly type: string
  readonly amount: MicroCredits
  /** Digest of the exact body. */
  readonly body: string
  /** How much of the minute is still to come. */
  readonly leftMs: number
  /** The body for its owner to read, cut short, of a first minute. */
  readonly shown?: string | undefined
  /** It is visitors without a key who spend: all of them together so much an hour. */
  readonly visitorsPerHour?: MicroCredits | undefined
}

/** Visitors without a key have spent what they may for now. */
export interface VisitorsBusy {
  readonly ok: false
  readonly reason: 'busy'
  readonly busyMs: number
}

/** What an account, or a key under its `cap`, has too little for. */
export interface Exhausted {
  readonly ok: false
  readonly reason: 'exhausted'
  readonly remaining: MicroCredits
  /** The key's, where that is what leaves too little. */
  readonly cap?: MicroCredits | undefined
}

/** `leftMs` of a paid minute, 0 or less where it is over, remain for the subscription to use. */
export type MinuteResult =
  | { readonly ok: true; readonly leftMs: number }
  | Exhausted
  | VisitorsBusy
  /** `limit`: the account has as many subscriptions as its plan allows. `ended`: the meter has seen its end. */
  | { readonly ok: false; readonly reason: 'revoked' | 'limit' | 'ended' }

/** A subscription is over. The rest of its last minute is kept for one resubscribe of the same key and body. */
export interface StreamEnd {
  readonly subscription: string
  /** Digest of the body it had in the end. */
  readonly body: string
  readonly leftMs: number
  /** Its first minute could not be served: it is given back, or the rest that it began with. */
  readonly unserved?: { readonly type: string; readonly amount: MicroCredits }
}

/** All that one relay has to say about one account. Repeating a report changes nothing. */
export interface StreamReport {
  readonly v: number
  readonly relay: string
  /** When the relay's object began, by its own clock: later ones have a larger one. */
  readonly life: number
  /** Subscriptions that live, in the first report of a life; what else the meter holds of this relay died. */
  readonly alive: readonly string[] | null
  /** What the account has here now; what the relay said before is forgotten. */
  readonly sockets: number
  readonly subscriptions: number
  readonly perMinute: MicroCredits
  readonly keys: readonly KeyHash[]
  /** Of the account, as its callers' identities have them. */
  readonly limits: { readonly connections: number; readonly subscriptions: number }
  /** Keys of sockets that wait to be let in. */
  readonly connects: readonly KeyHash[]
  readonly charges: readonly MinuteCharge[]
  readonly ends: readonly StreamEnd[]
}

/** `limit`: the account has as many sockets as its plan allows. `exhausted`: it cannot pay for a minute of anything. */
export type ConnectVerdict = 'in' | 'revoked' | 'limit' | 'exhausted'

export interface StreamResponse {
  readonly v: number
  /** In the order of the sockets that wait. */
  readonly connects: readonly ConnectVerdict[]
  readonly minutes: readonly MinuteResult[]
  /** Those of the reported keys that were revoked. */
  readonly revoked: readonly KeyHash[]
  /** What streams may spend, and with what leases hold beside it. */
  readonly available: MicroCredits
  readonly left: MicroCredits
  /** A tenth or less is left of what the account had in its plan's period. */
  readonly isLow: boolean
  /** Price of the next minute of all that the account runs, at every relay. */
  readonly nextMinute: MicroCredits
  /** Grows when the terms of the account or of one of its keys change. */
  readonly terms: number
}

export interface StreamMeterApi {
  stream(report: StreamReport): Promise<StreamResponse>
}

/** A subscription that runs, for its owner. */
interface RunningStream {
  readonly keyHash: KeyHash
  readonly type: string
  /** Its body, cut short; empty where its relay did not tell. */
  readonly shown: string
  readonly sinceMs: number
  readonly amount: MicroCredits
}

/** What an account has open, over all relays; what is listed is the part that costs most. */
export interface StreamView {
  readonly sockets: number
  readonly subscriptions: number
  readonly perMinute: MicroCredits
  readonly listed: readonly RunningStream[]
}
