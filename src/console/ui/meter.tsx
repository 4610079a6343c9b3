// A bar that shows how much of something is used.

interface MeterProps {
  readonly label: string
  readonly permille: number
}

export function Meter({ label, permille }: MeterProps) {
  const width = Math.max(0, Math.min(1000, permille))
  return (
    <svg class="meter" role="img" aria-label={label} viewBox="0 0 1000 10" preserveAspectRatio="none">
      <rect class="track" width="1000" height="10" />
      <rect class={width >= 900 ? 'high' : width >= 700 ? 'near' : 'fine'} width={width} height="10" />
    </svg>
  )
}
