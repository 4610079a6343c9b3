// Answers beside the examples of the types beyond the specification: between them and the example every field is shown,
// and what may be null or absent both with it and without. All made up.

import { queryOf } from '../../src/info/catalogue.ts'
import { OTHER_USER, PERP_META, PERP_STATE, TIME, USER } from '../../src/info/shapes/examples.ts'

type Json = Record<string, unknown>
const exampleOf = (type: string) => queryOf(type)!.example.response as Json
const firstOf = (type: string) => (queryOf(type)!.example.response as Json[])[0]!
const without = (value: unknown, ...keys: string[]): Json =>
  Object.fromEntries(Object.entries(value as Json).filter(([key]) => !keys.includes(key)))

const [POSITION] = PERP_STATE.assetPositions
/** An isolated position that a closing order left, on an account that tells no time. */
const ISOLATED = {
  ...without(PERP_STATE, 'time'),
  assetPositions: [
    {
      type: 'oneWay',
      position: {
        ...POSITION!.position,
        ...{ leverage: { type: 'isolated', value: 5, rawUsd: '-650.5' }, entryPx: null, liquidationPx: '61000.5' },
      },
    },
  ],
}
const SPOT = {
  balances: [{ coin: '+40', total: '5.0', hold: '0.0', entryNtl: '3.1' }],
  tokenToAvailableAfterMaintenance: [[0, '100.5']],
}
const ENDED_AUCTION = { ...exampleOf('spotPairDeployAuctionStatus'), currentGas: null, endGas: '450.0' }
const DEAD_CTX = { ...(exampleOf('webData2').assetCtxs as Json[])[0], premium: null, midPx: null, impactPxs: null }
const TWAP = firstOf('twapHistory').state as Json
const PLAIN_TWAP = { ...TWAP, trigger: null, stopPx: null }
const OPEN_QUESTION = { question: { active: 2 }, name: 'How high?', description: '' }
const BRACKET = {
  ...(exampleOf('webData2').openOrders as Json[])[0],
  ...{ tif: null, cloid: `0x${'c1'.repeat(16)}`, isTrigger: true },
}

/** By type. */
export const BEYOND_ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  activeAssetData: [{ ...exampleOf('activeAssetData'), leverage: { type: 'cross', value: 20 } }],
  borrowLendUserState: [{ ...exampleOf('borrowLendUserState'), healthFactor: null }],
  gossipPriorityAuctionStatus: [[[null, '192.0.2.1'], [ENDED_AUCTION]]],
  isVip: [null],
  outcomeTemplates: [[{ ...firstOf('outcomeTemplates'), role: 'question' }]],
  perpAnnotation: [null, { category: 'stocks', description: '' }],
  perpConciseAnnotations: [[['xyz:TSLA', { category: 'stocks' }]]],
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
              ...{ cumVlm: '1.0', cumRewardedFeesSinceReferred: '0.0', cumFeesRewardedToReferrer: '0.0' },
              ...{ timeJoined: TIME, user: OTHER_USER },
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
    [
      {
        ...{ name: 'a', subAccountUser: USER, master: OTHER_USER },
        ...{ dexToClearinghouseState: [['xyz', ISOLATED]], spotState: SPOT },
      },
    ],
  ],
  tokenDetails: [
    { ...exampleOf('tokenDetails'), genesis: null, deployer: null, deployGas: null, deployTime: null },
    { ...exampleOf('tokenDetails'), genesis: without(exampleOf('tokenDetails').genesis, 'blacklistUsers') },
  ],
  twapHistory: [
    ['activated', 'terminated', 'waitingForTrigger', 'stopped', 'aStatusOfTomorrow'].map((status) => ({
      ...{ time: 1_790_000_000, state: PLAIN_TWAP, status: { status }, twapId: 4 },
    })),
    [{ ...firstOf('twapHistory'), state: without(TWAP, 'trigger', 'stopPx') }],
  ],
  userDexAbstraction: [null],
  userFunding: [[{ ...firstOf('userFunding'), delta: { ...(firstOf('userFunding').delta as Json), nSamples: null } }]],
  validatorSummaries: [[{ ...firstOf('validatorSummaries'), unjailableAfter: null }]],
  webData2: [
    {
      ...without(exampleOf('webData2'), 'spotState', 'optOutOfSpotDusting', 'perpsAtOpenInterestCap'),
      ...{ clearinghouseState: ISOLATED, openOrders: [BRACKET], agentAddress: null, agentValidUntil: null },
      ...{
        assetCtxs: [DEAD_CTX],
        twapStates: [
          [4, PLAIN_TWAP],
          [5, without(TWAP, 'trigger', 'stopPx')],
        ],
      },
    },
    {
      ...exampleOf('webData2'),
      ...{ spotState: SPOT, spotAssetCtxs: [{ ...(exampleOf('webData2').spotAssetCtxs as Json[])[0], midPx: null }] },
      meta: { ...PERP_META, universe: [{ ...PERP_META.universe[0], isDelisted: true }] },
    },
  ],
}
