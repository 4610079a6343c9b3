// What endpoints of the operator alone are lent: the staff and the audit. Types alone.

import type { FindStaff, StaffRole, StaffRow } from '../../accounts/staff.ts'
import type { AuditRow } from './audit.ts'

export interface Staff extends FindStaff {
  /** The token, shown this once; null, and nothing done, where somebody of this name has one. */
  add(name: string, role: StaffRole, nowMs: number): Promise<string | null>
  /** Newest first. */
  list(): Promise<readonly StaffRow[]>
  /** False where nobody of this name has a token. */
  revoke(name: string, nowMs: number): Promise<boolean>
}

export interface Audit {
  /** Its number. Rejects where it could not be written: then nothing must be done. */
  begin(row: AuditRow, nowMs: number): Promise<number>
  end(number: number, status: number, account: string | null, nowMs: number): Promise<void>
}
