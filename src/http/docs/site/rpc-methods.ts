// Methods of an EVM chain that people ask for, in words. Whether one is served, the rules of chains say.

interface RpcMethod {
  readonly method: string
  readonly params: string
  readonly result: string
}

const row = (method: string, params: string, result: string): RpcMethod => ({ method, params, result })
const BLOCK = 'block: a number as hex, `latest`, `earliest`, `pending`, `safe` or `finalized`'

export const RPC_METHODS: readonly RpcMethod[] = [
  row('eth_blockNumber', 'nothing', 'number of the newest block'),
  row('eth_chainId', 'nothing', 'id of the chain'),
  row('eth_call', `call (\`to\`, \`data\`, …); ${BLOCK}`, 'what the contract returns; a revert is error 3, and costs'),
  row('eth_estimateGas', 'call; block, may be left out', 'gas that it would take'),
  row('eth_gasPrice', 'nothing', 'price of gas'),
  row('eth_maxPriorityFeePerGas', 'nothing', 'tip that is paid now'),
  row('eth_feeHistory', 'how many blocks; newest block; percentiles', 'fees of these blocks'),
  row('eth_getBalance', 'address; block', 'balance in wei'),
  row('eth_getCode', 'address; block', 'code of the contract'),
  row('eth_getStorageAt', 'address; slot; block', 'what the slot holds'),
  row('eth_getTransactionCount', 'address; block', 'nonce of the address'),
  row('eth_getBlockByNumber', 'block; whether with whole transactions', 'the block, or null'),
  row('eth_getBlockByHash', 'hash; whether with whole transactions', 'the block, or null'),
  row('eth_getBlockReceipts', 'block or its hash', 'receipts of all its transactions'),
  row('eth_getBlockTransactionCountByNumber', 'block', 'how many transactions it has'),
  row('eth_getTransactionByHash', 'hash', 'the transaction, or null'),
  row('eth_getTransactionReceipt', 'hash', 'its receipt, or null'),
  row('eth_getLogs', 'filter: `fromBlock`, `toBlock` or `blockHash`, `address`, `topics`', 'logs that fit'),
  row('eth_sendRawTransaction', 'a signed transaction', 'its hash; sent to one node, once'),
  row('eth_syncing', 'nothing', 'whether the node catches up'),
  row('net_version', 'nothing', 'id of the network'),
  row('web3_clientVersion', 'nothing', 'what the node runs'),
  row('eth_subscribe', 'what to send', 'not over HTTP: use [streams](/docs/ws-protocol)'),
  row('eth_newFilter', 'filter', 'state that one node alone would have'),
  row('eth_accounts', 'nothing', 'the node’s own accounts'),
  row('eth_sendTransaction', 'transaction', 'would be signed by the node'),
  row('debug_traceTransaction', 'hash; options', 'what the transaction did, step by step'),
]
