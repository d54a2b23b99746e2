import { signal } from '@preact/signals'

/** False while the window is minimized, or its tab is in the background. */
export const isVisible = signal(!document.hidden)

document.addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden
})
