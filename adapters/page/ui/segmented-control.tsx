export interface SegmentsProps {
  readonly label: string
  readonly names: readonly string[]
  readonly chosen: number
  readonly choose: (index: number) => void
}

/** One of a few ways to show the same. */
export function Segments({ label, names, chosen, choose }: SegmentsProps) {
  return (
    <span class="seg" role="group" aria-label={label}>
      {names.map((name, index) => (
        <button
          key={name}
          type="button"
          aria-pressed={index === chosen}
          onClick={() => choose(index)}
        >
          {name}
        </button>
      ))}
    </span>
  )
}
