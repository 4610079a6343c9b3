// What fetching from the exchange's bucket costs who fetches (requester pays), by Amazon's list prices of November 2026.

const GIB = 2 ** 30
const DOLLARS_PER_GIB = 0.09
/** 1,000 GETs, and 1,000 lists. */
const DOLLARS_PER_GETS = 0.0004
const DOLLARS_PER_LISTS = 0.005

/** The bill, before anything of it is fetched. */
export function billText(files: number, bytes: number, lists: number): string {
  const dollars =
    (bytes / GIB) * DOLLARS_PER_GIB + (files / 1_000) * DOLLARS_PER_GETS + (lists / 1_000) * DOLLARS_PER_LISTS
  const amount = dollars < 0.01 ? 'less than $0.01' : `about $${dollars.toFixed(2)}`
  return `${files} files, ${(bytes / GIB).toFixed(2)} GiB: ${amount} on the bill of your AWS account (requester pays; egress to the Internet at $${DOLLARS_PER_GIB} a GiB, and each request).`
}
