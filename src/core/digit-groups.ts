// Numbers in messages, with a comma before each group of three digits. `toLocaleString` would load the tables of Intl,
// which takes as long as half of a Worker's start.

/** 12345 as "12,345". `value`: an integer. */
export const inGroups = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
