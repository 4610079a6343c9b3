// RPC interface of a Payer (one per wallet and network). Types only; payer.do.ts implements it.

import type { PaymentOrder, PaymentRefusal } from './payment.ts'

/** Version of the messages. */
export const PAYER_API_VERSION = 1

export interface BeginRequest {
  readonly v: number
  readonly order: PaymentOrder
}

/** `holder` identifies the request in the calls that follow. */
export type BeginResponse =
  | { readonly ok: true; readonly holder: number }
  | { readonly ok: false; readonly refusal: PaymentRefusal }

export interface EndRequest {
  readonly v: number
  readonly nonce: string
  readonly holder: number
}

/** `isBooked`: its credits were granted. `isFirst`: this request took the payment; others may repeat what the chain shows. */
export type SettleResponse =
  | { readonly ok: true; readonly transaction: string; readonly isBooked: boolean; readonly isFirst: boolean }
  | { readonly ok: false; readonly refusal: PaymentRefusal }

export interface PayerApi {
  /** Verifies a payment and holds it for one request. */
  begin(request: BeginRequest): Promise<BeginResponse>
  /** Takes the payment of a request whose answer is ready. */
  settle(request: EndRequest): Promise<SettleResponse>
  /** Frees the payment of a request that was not answered. */
  release(request: EndRequest): Promise<void>
  /** True once per nonce of a login, which is remembered until `untilMs`. */
  useNonce(nonce: string, untilMs: number): Promise<boolean>
}
