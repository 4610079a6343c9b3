// Text of the header. It is separate from the other shared text because the live page loads nothing else.

export const FRAME = {
  skip: 'Skip to content',
  navigation: 'Pages',
  links: { '/live': 'Live', '/console': 'Console', '/docs': 'Docs', '/status': 'Status' },
} as const
