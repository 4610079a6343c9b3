// Answers of POST /info from the state of the exchange, status and text as the public server gives them.

import { ANNOTATION_ANSWERS } from './annotations.ts'
import { type Answers, NOTHING, type Scene } from './answer.ts'
import { CONTEXT_ANSWERS } from './context.ts'
import { DEPLOY_ANSWERS } from './deploy.ts'
import { FILL_ANSWERS } from './fills.ts'
import { GOSSIP_ANSWERS } from './gossip.ts'
import { LENDING_ANSWERS } from './lending.ts'
import { META_ANSWERS } from './meta.ts'
import { ORDER_ANSWERS } from './orders.ts'
import { OUTCOME_ANSWERS } from './outcomes.ts'
import { PORTFOLIO_ANSWERS } from './portfolio.ts'
import { REFERRAL_ANSWERS } from './referral.ts'
import type { StateRequest, StateType } from './request.ts'
import { STAKING_ANSWERS } from './staking.ts'
import { STANDING_ANSWERS } from './standing.ts'
import { TOKEN_ANSWERS } from './tokens.ts'
import { TRADING_ANSWERS } from './trading.ts'
import { USER_ANSWERS } from './user.ts'
import { VALIDATOR_ANSWERS } from './validators.ts'
import { VAULT_ANSWERS } from './vaults.ts'
import { WEB_DATA_ANSWERS } from './web-data.ts'

/** `body` is a value for JSON.stringify, or the plain text of a refusal. */
export type Answer =
  | { readonly status: 200 | 500; readonly body: unknown }
  | { readonly status: 400 | 413 | 415 | 422; readonly text: string }

/** What a body that fits no query is answered with. */
export const UNFIT: Answer = { status: 422, text: 'Failed to deserialize the JSON body into the target type' }

/** Every query of the upstream by its type. */
const ANSWERS: Answers<StateType> = {
  ...META_ANSWERS,
  ...CONTEXT_ANSWERS,
  ...ORDER_ANSWERS,
  ...FILL_ANSWERS,
  ...USER_ANSWERS,
  ...VAULT_ANSWERS,
  ...STAKING_ANSWERS,
  ...DEPLOY_ANSWERS,
  ...WEB_DATA_ANSWERS,
  ...VALIDATOR_ANSWERS,
  ...TRADING_ANSWERS,
  ...TOKEN_ANSWERS,
  ...STANDING_ANSWERS,
  ...REFERRAL_ANSWERS,
  ...PORTFOLIO_ANSWERS,
  ...OUTCOME_ANSWERS,
  ...LENDING_ANSWERS,
  ...GOSSIP_ANSWERS,
  ...ANNOTATION_ANSWERS,
}

/** A DEX or coin that does not exist is answered as the public server does: 500 and `null`. */
export function answerInfo(scene: Scene, request: StateRequest): Answer {
  // A request is of the type that it names, which the compiler does not carry through a table.
  const answer = ANSWERS[request.type] as (scene: Scene, request: StateRequest) => unknown
  const body = answer(scene, request)
  return body === NOTHING ? { status: 500, body: null } : { status: 200, body }
}
