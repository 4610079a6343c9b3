// validatorL1Votes: what validators vote on now. Wire-equal; the kinds of action are open.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { TIME, USER } from '../shapes/examples.ts'
import { passThrough } from '../sources/pass-through.ts'

const FRESH_MS = 10_000

const ValidatorL1VotesRequest = z.object({ type: z.literal('validatorL1Votes') })

const Vote = z.looseObject({
  expireTime: z.int(),
  action: z.unknown(),
  votes: z.array(z.string()),
  quorumReached: z.boolean(),
})

export const validatorL1Votes = defineQuery({
  type: 'validatorL1Votes',
  summary: 'Open votes of the validators',
  example: { request: {}, response: [{ expireTime: TIME, action: { D: 'BTC' }, votes: [USER], quorumReached: false }] },
  request: ValidatorL1VotesRequest,
  response: z.array(Vote),
  price: ONE_CREDIT,
  freshness: { class: 'slow', freshMs: FRESH_MS },
  needs: ['upstream'],
  resolve: passThrough,
})
