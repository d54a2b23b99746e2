import { computed } from '@preact/signals'
import { held } from './loading.js'

/* What other parts of the page know of the list. */

/** The rows that are held, in the order of the list: without sorts newest first. */
export const rows = computed(() => held.value.events)

export { liveState, showWaiting, togglePause, waitingCount } from './live-updates.js'
export type { LiveState } from './live-state.js'
export { openNext, scrollToTime } from './row-focus.js'
export { onScreen } from './interaction.js'
