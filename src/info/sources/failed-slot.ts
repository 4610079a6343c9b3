// A part of an answer that could not be had, where the others could: told apart from a state by its key `error`, so that
// it never reads as an empty account.

import * as z from 'zod'
import { type Failure, failureMessage } from '../../core/failure.ts'
import { Address } from '../../protocol/feed/block.ts'

const Slot = z.object({ error: z.literal('upstream_error'), message: z.string() })

/** In the answer for many users. */
export const FailedUser = Slot.extend({ user: Address }).meta({ id: 'FailedUser' })

/** In the answer for all DEXes. */
export const FailedDex = Slot.extend({ dex: z.string() }).meta({ id: 'FailedDex' })

/** The text of a slot: whose it is, and why it failed. */
export function failedSlot(whose: { readonly user: string } | { readonly dex: string }, failure: Failure): string {
  return JSON.stringify({ error: 'upstream_error', ...whose, message: failureMessage(failure) })
}
