// Names of the node's hourly files: `{YYYYMMDD}/{H}`, the hour without zero padding, so text order is wrong.

/** An hourly file: its folder and name, and a number that orders files in time. */
export interface HourlyFile {
  readonly date: string
  readonly hour: string
  readonly order: number
}

/** The file of these two names, null where they are not of the hourly layout. */
export function hourlyFile(date: string, hour: string): HourlyFile | null {
  if (!/^\d{8}$/.test(date) || !/^\d{1,2}$/.test(hour)) return null
  return { date, hour, order: Number(date) * 100 + Number(hour) }
}
