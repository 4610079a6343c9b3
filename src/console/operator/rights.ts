// What the page offers to whom. Law: it hides what would be refused, and is no protection: the gateway asks by itself.

export type StaffRole = 'support' | 'billing' | 'owner'

const ROLES: readonly StaffRole[] = ['support', 'billing', 'owner']

export const may = (role: StaffRole, needed: StaffRole) => ROLES.indexOf(role) >= ROLES.indexOf(needed)
