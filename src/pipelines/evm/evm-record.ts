// The settings of an `evm_logs` pipeline: its chain, its log filter, and their validation.

import * as z from 'zod'
import type { Issue } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import type { PipelineFields } from '../pipeline.ts'
import { readAbi } from './abi.ts'
import type { LogQuery } from './evm-chain.ts'

const Filter = z.strictObject({ type: z.literal('evmLogs'), chain: z.string().max(64) })

/** The chain to read, out of the chains that have nodes. */
export function chainOf({ filter }: Pick<PipelineFields, 'filter'>, chains: readonly string[]): Result<string, Issue> {
  const all = chains.join(', ') || 'none'
  const [only] = chains
  if (filter === null) {
    return only !== undefined && chains.length === 1
      ? ok(only)
      : err({
          path: 'filter',
          message: `must be {"type":"evmLogs","chain":…} with one of these chains: ${all}`,
        })
  }
  const { chain } = filter as z.infer<typeof Filter>
  return chains.includes(chain) ? ok(chain) : err({ path: 'filter.chain', message: `must be one of: ${all}` })
}

/** Nodes may refuse a filter with more topics than this. All logs are read then. */
const MAX_TOPICS = 100

/** Log filter sent to the nodes. */
export function queryOf(
  { abi_contract_addresses, abi_unmatched }: Pick<PipelineFields, 'abi_contract_addresses' | 'abi_unmatched'>,
  selectors: readonly string[],
): LogQuery {
  const isNarrow = abi_unmatched === 'drop' && selectors.length <= MAX_TOPICS
  const addresses = abi_contract_addresses.map((address) => address.toLowerCase())
  return { addresses, topics: isNarrow ? selectors : [] }
}

/** Problems that do not depend on the available chains. */
export function evmIssues({ filter, abi_file, abi_unmatched }: PipelineFields): readonly Issue[] {
  const filtered = filter === null ? ok(null) : parseWith(Filter, filter)
  const issues = filtered.ok ? [] : filtered.error.map(({ path, message }) => ({ path: `filter.${path}`, message }))
  const events = readAbi(abi_file)
  if (!events.ok) return [...issues, events.error]
  if (events.value.length > 0 || abi_unmatched === 'keep') return issues
  return [
    ...issues,
    {
      path: 'abi_file.abi',
      message: `must contain an event, because with "abi_unmatched" "${abi_unmatched}" no log could match`,
    },
  ]
}
