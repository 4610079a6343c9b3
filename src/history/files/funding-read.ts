// What readers see of funding in the files. Types alone.

import type { FundingBlock } from '../../feed/held-fills.ts'
import type { FilesReader } from './files-read.ts'

export interface FundedFiles extends FilesReader {
  /**
   * The funding of these coins, oldest first, heights of both ends included. Left out by files that have none: then what is
   * made of it is made of the log alone.
   */
  funding?(coins: readonly string[], from: number, to: number): Promise<readonly FundingBlock[]>
}
