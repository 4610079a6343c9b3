// Answers of POST /info, status and text as the public server gives them: from the state of the exchange where Weir makes
// something of an answer, from the examples of its queries where it passes one through.

import { type Answers, NOTHING, type Scene } from './answer.ts'
import { exampleOf } from './examples.ts'
import { HISTORY_ANSWERS } from './history.ts'
import { MARKET_ANSWERS } from './markets.ts'
import { StateRequest, type StateType } from './request.ts'
import { WALLET_ANSWERS } from './wallet.ts'

/** `body` is a value for JSON.stringify, or the plain text of a refusal. */
export type Answer =
  | { readonly status: 200 | 500; readonly body: unknown }
  | { readonly status: 400 | 413 | 415 | 422; readonly text: string }

/** What a body that fits no query is answered with. */
const UNFIT: Answer = { status: 422, text: 'Failed to deserialize the JSON body into the target type' }

const ANSWERS: Answers<StateType> = { ...MARKET_ANSWERS, ...WALLET_ANSWERS, ...HISTORY_ANSWERS }

/** Answers a JSON body. A DEX or coin that does not exist is answered as the public server does: 500 and `null`. */
export function answerInfo(scene: Scene, body: unknown): Answer {
  const answer = answerOf(scene, body)
  if (answer === undefined) return UNFIT
  return answer === NOTHING ? { status: 500, body: null } : { status: 200, body: answer }
}

function answerOf(scene: Scene, body: unknown): unknown {
  const type = (body as { readonly type?: unknown } | null)?.type
  if (typeof type !== 'string') return undefined
  if (!Object.hasOwn(ANSWERS, type)) return exampleOf(scene, { ...(body as object), type })
  const parsed = StateRequest.safeParse(body)
  if (!parsed.success) return undefined
  // A request is of the type that it names, which the compiler does not carry through a table.
  const answer = ANSWERS[parsed.data.type] as (scene: Scene, request: StateRequest) => unknown
  return answer(scene, parsed.data)
}
