import type { ComponentChildren } from 'preact'

/** A message instead of the list: the situation, and the next step. */
export function StatusMessage({ art, children }: { art?: boolean; children: ComponentChildren }) {
  return (
    <div class="state" id="events" tabIndex={-1}>
      {art && (
        <svg class="art" aria-hidden="true" viewBox="0 0 140 92">
          <use href="#page" />
        </svg>
      )}
      {children}
    </div>
  )
}
