// Text of the frame of the console.

export const CONSOLE = {
  product: 'Weir',
  signOut: 'Sign out',
} as const

export const SHELL = {
  rail: 'Console',
  path: 'Breadcrumb',
  openMenu: 'Open menu',
  closeMenu: 'Close menu',
} as const

export const OPERATOR_GROUPS = {
  business: 'Business',
  data: 'Data plane',
  administration: 'Administration',
} as const
