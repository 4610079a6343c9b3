// oracleUpdates: oracle prices of builder-deployed DEXes, all rows of a block in one frame.

import * as z from 'zod'
import { dexOf } from '../../core/coin.ts'
import { CoinName } from '../../protocol/feed/block.ts'
import { type OracleRow, oracleRows, PublishedOracleRow } from '../../protocol/feed/oracle-updates.ts'
import { defineEventChannel, dexKey, EVERY, type EventView, META_FIELDS, metaText } from '../channel.ts'

const TYPE = 'oracleUpdates'

const ROWS: EventView<OracleRow> = { items: ({ oracle }) => oracleRows(oracle), text: JSON.stringify }

const frameOf = <Row extends z.ZodType>(row: Row) =>
  z.object({ channel: z.literal(TYPE), data: z.array(row), ...META_FIELDS })

const PX = { px: '4020.1', last_update_time: '2026-09-21T14:13:20.000000000', daily_px: '4011.0' }

export const oracleUpdates = defineEventChannel({
  type: TYPE,
  summary: 'Oracle prices that deployers of DEXes set, in one market, one DEX, or all',
  example: {
    request: { coin: 'xyz:GOLD' },
    frame: {
      channel: TYPE,
      data: [
        {
          coin: 'xyz:GOLD',
          update_class: 'Deployer',
          mark_px_inputs: ['4020.1'],
          spot_px_inputs: ['4020.1'],
          mark_px: PX,
          oracle_px: PX,
        },
      ],
    },
  },
  request: z
    .strictObject({
      type: z.literal(TYPE),
      coin: CoinName.optional().describe('Market. Default: all markets'),
      dex: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, 'must be a DEX name')
        .optional()
        .describe('DEX. Only without `coin`'),
    })
    .refine(({ coin, dex }) => coin === undefined || dex === undefined, {
      path: ['dex'],
      message: 'valid only when coin is omitted. Leave one of the two out',
    })
    .transform(({ coin, dex }) => ({ dex, name: coin ?? (dex === undefined ? EVERY : dexKey(dex)) })),
  frame: frameOf(z.looseObject({ coin: CoinName })),
  published: frameOf(PublishedOracleRow),
  by: 'coin',
  views: [ROWS],
  view: () => ROWS,
  names: ({ name }) => [name],
  namesOf: ({ coin }) => [coin, dexKey(dexOf(coin)), EVERY],
  needs: 'events',
  framing: 'per name',
  encode: (pieces, meta) => `{"channel":"${TYPE}","data":[${pieces.join(',')}]${metaText(meta)}}`,
})
