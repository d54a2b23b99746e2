import { signal } from '@preact/signals'
import type { Saved } from '../data/managing.js'

/** The generated secret that is shown. */
export const generated = signal<Pick<Saved, 'name' | 'secret'> | undefined>(undefined)

/** Shows the secret that a request generated, if any. */
export function showSecret(saved: Saved): void {
  if (saved.secret !== undefined) generated.value = saved
}
