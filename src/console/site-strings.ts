// Text of the elements that every page has.

export const THEMES = {
  label: 'Theme',
  names: { system: 'System theme', light: 'Light theme', dark: 'Dark theme' },
} as const
