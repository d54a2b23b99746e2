import { computed } from '@preact/signals'
import { managed, openManaged } from '../data/address.js'

export type Tab = 'subscriptions' | 'channels'

/** The id of a place for creating something. */
export const NEW = 'new'

/** The open place: a list, or one of its items. */
export const place = computed(() => {
  const [tab, id] = (managed.value ?? 'subscriptions').split('=') as [Tab, string | undefined]
  return { tab, id }
})

export const openPlace = (tab: Tab, id?: string): void =>
  openManaged(id === undefined ? tab : `${tab}=${id}`)
