import type { ComponentChildren } from 'preact'

/** A row of a list of facts. */
export function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}
