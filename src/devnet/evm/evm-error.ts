// Errors of JSON-RPC calls, and reverts of the token.

import { encodeErrorResult, parseAbi } from 'viem/utils'

/** The JSON-RPC error of a call. */
export class EvmError extends Error {
  readonly code: number
  readonly data: string | undefined
  constructor(code: number, message: string, data?: string) {
    super(message)
    this.code = code
    this.data = data
  }
}

const ERROR = parseAbi(['error Error(string)'])

/** The call was reverted, with a reason or without. */
export class Revert extends EvmError {
  constructor(reason?: string) {
    if (reason === undefined) super(3, 'execution reverted', '0x')
    else
      super(3, `execution reverted: ${reason}`, encodeErrorResult({ abi: ERROR, errorName: 'Error', args: [reason] }))
  }
}
