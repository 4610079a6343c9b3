// Queries a chain over JSON-RPC with viem, in batches: the newest block, a token, and its latest transfers.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/chain.ts hyperliquid 0x7070707070707070707070707070707070707070

import { type Address, createPublicClient, erc20Abi, formatUnits, http } from 'viem'

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const [chain, token] = process.argv.slice(2)
if (!url || !key || !chain || !token) {
  console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/chain.ts CHAIN TOKEN')
  process.exit(2)
}
const headers = { Authorization: `Bearer ${key}` }
const client = createPublicClient({ transport: http(`${url}/v1/${chain}`, { batch: true, fetchOptions: { headers } }) })
const contract = { address: token as Address, abi: erc20Abi } as const
const [block, symbol, decimals, supply] = await Promise.all([
  client.getBlock(),
  client.readContract({ ...contract, functionName: 'symbol' }),
  client.readContract({ ...contract, functionName: 'decimals' }),
  client.readContract({ ...contract, functionName: 'totalSupply' }),
])
console.log(`block ${block.number}: ${formatUnits(supply, decimals)} ${symbol}`)
const transfers = { ...contract, eventName: 'Transfer', fromBlock: block.number > 9n ? block.number - 9n : 0n } as const
for (const { args } of await client.getContractEvents({ ...transfers, toBlock: block.number }))
  console.log(`${args.from} to ${args.to}: ${formatUnits(args.value!, decimals)} ${symbol}`)
