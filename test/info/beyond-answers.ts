// Additional responses of the types beyond the specification. Together with the examples they contain every field, and
// every optional or nullable part both present and absent. All invented.

import { queryOf } from '../../src/info/queries/catalogue.ts'
import { OTHER_USER, TIME, USER } from '../../src/protocol/info/examples.ts'
import { ONE_POSITION } from '../../src/protocol/info/position-shapes.ts'
import { BRACKET, DEAD_CTX, ENDED_AUCTION, FULL_META, PERP_STATES, SPOT_STATES } from './full-shapes.ts'

type Json = Record<string, unknown>
export const exampleOf = (type: string) => queryOf(type)!.example.response as Json
const firstOf = (type: string) => (queryOf(type)!.example.response as Json[])[0]!
const without = (value: unknown, ...keys: string[]): Json =>
  Object.fromEntries(Object.entries(value as Json).filter(([key]) => !keys.includes(key)))

const TWAP = firstOf('twapHistory').state as Json
const PLAIN_TWAP = { ...TWAP, trigger: null, stopPx: null }
const OPEN_QUESTION = { question: { active: 2 }, name: 'How high?', description: '' }

/** Responses by type. */
export const BEYOND_ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  alignedQuoteTokenInfo: [null, { ...exampleOf('alignedQuoteTokenInfo'), firstAlignedTime: null }],
  tokenAnnotation: [null, { category: 'meme' }],
  tokenConciseAnnotations: [[[1, { category: 'meme' }]]],
  activeAssetData: [{ ...exampleOf('activeAssetData'), leverage: { type: 'cross', value: 20 } }],
  borrowLendUserState: [{ ...exampleOf('borrowLendUserState'), healthFactor: null }],
  gossipPriorityAuctionStatus: [[[null, '192.0.2.1'], [ENDED_AUCTION]]],
  isVip: [null],
  outcomeTemplates: [[{ ...firstOf('outcomeTemplates'), role: 'question' }]],
  perpAnnotation: [null, { category: 'stocks', description: '' }],
  perpConciseAnnotations: [[['xyz:TSLA', { category: 'stocks' }]]],
  positionsByCoin: [
    {
      ...exampleOf('positionsByCoin'),
      positions: [{ user: USER, ...ONE_POSITION, side: 'short', szi: '-1.5', breakHeight: 40, breakTime: TIME }],
    },
  ],
  positionsByUser: [
    {
      ...exampleOf('positionsByUser'),
      positions: [
        { coin: 'ETH', ...ONE_POSITION, side: 'short', szi: '-1.5', breakHeight: 40, breakTime: TIME, gapAfter: true },
      ],
    },
  ],
  predictedFundings: [[['AVAX', [['BybitPerp', { fundingRate: '-0.0001', nextFundingTime: TIME }]]]]],
  referral: [
    {
      ...without(exampleOf('referral'), 'tokenToState'),
      referredBy: null,
      referrerState: { stage: 'needToCreateCode' },
    },
    { ...exampleOf('referral'), referrerState: { stage: 'needToTrade', data: { required: '9000.0' } } },
    { ...exampleOf('referral'), referrerState: { stage: 'aStageOfTomorrow' } },
    {
      ...exampleOf('referral'),
      referrerState: {
        stage: 'ready',
        data: {
          code: 'OLD',
          referralStates: [
            {
              cumVlm: '1.0',
              cumRewardedFeesSinceReferred: '0.0',
              cumFeesRewardedToReferrer: '0.0',
              timeJoined: TIME,
              user: OTHER_USER,
            },
          ],
        },
      },
    },
  ],
  settledOutcome: [
    null,
    {
      ...without(exampleOf('settledOutcome'), 'question'),
      spec: {
        ...without(exampleOf('settledOutcome').spec, 'deployer', 'venue', 'deployerFeeScale'),
        sideSpecs: [{ name: 'Yes' }, { name: 'No' }],
      },
    },
    { ...exampleOf('settledOutcome'), question: OPEN_QUESTION },
  ],
  spotPairDeployAuctionStatus: [ENDED_AUCTION],
  subAccounts2: [
    null,
    PERP_STATES.map((state, i) => ({
      name: 'a',
      subAccountUser: USER,
      master: OTHER_USER,
      dexToClearinghouseState: [['xyz', state]],
      spotState: SPOT_STATES[i],
    })),
  ],
  tokenDetails: [
    { ...exampleOf('tokenDetails'), genesis: null, deployer: null, deployGas: null, deployTime: null },
    { ...exampleOf('tokenDetails'), genesis: without(exampleOf('tokenDetails').genesis, 'blacklistUsers') },
  ],
  twapHistory: [
    ['activated', 'terminated', 'waitingForTrigger', 'stopped', 'aStatusOfTomorrow'].map((status) => ({
      time: 1_790_000_000,
      state: PLAIN_TWAP,
      status: { status },
      twapId: 4,
    })),
    [{ ...firstOf('twapHistory'), state: without(TWAP, 'trigger', 'stopPx') }],
  ],
  userDexAbstraction: [null],
  userFunding: [[{ ...firstOf('userFunding'), delta: { ...(firstOf('userFunding').delta as Json), nSamples: null } }]],
  validatorSummaries: [[{ ...firstOf('validatorSummaries'), unjailableAfter: null }]],
  x_slippage: [{ ...exampleOf('x_slippage'), mid: null, avgPx: null, worstPx: null, slippageBps: null }],
  webData2: [
    {
      ...without(exampleOf('webData2'), 'spotState', 'optOutOfSpotDusting', 'perpsAtOpenInterestCap'),
      clearinghouseState: PERP_STATES[0],
      openOrders: [BRACKET],
      agentAddress: null,
      agentValidUntil: null,
      assetCtxs: [DEAD_CTX],
      twapStates: [
        [4, PLAIN_TWAP],
        [5, without(TWAP, 'trigger', 'stopPx')],
      ],
    },
    ...PERP_STATES.map((clearinghouseState, i) => ({
      ...exampleOf('webData2'),
      clearinghouseState,
      spotState: SPOT_STATES[i],
      meta: FULL_META,
      spotAssetCtxs: [{ ...(exampleOf('webData2').spotAssetCtxs as Json[])[0], midPx: null }],
    })),
  ],
}
