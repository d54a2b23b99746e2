export interface SegmentsProps {
  readonly label: string
  readonly names: readonly string[]
  readonly chosen: number
  readonly choose: (index: number) => void
}

/** A group of toggle buttons, one of which is pressed. */
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
