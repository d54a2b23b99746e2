import { texts } from './texts.js'

interface ProgressBarProps {
  /** 0 to 100. */
  readonly percent: number
  /** @default 'meter' */
  readonly class?: string
}

/** A progress bar, announced as a percentage. */
export function ProgressBar({ percent, class: className = 'meter' }: ProgressBarProps) {
  return (
    <svg
      class={className}
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
      role="img"
      aria-label={texts.common.percent(percent)}
    >
      <rect width={percent} height="1" />
    </svg>
  )
}
