import { computed, signal } from '@preact/signals'
import { members } from './address.js'
import { viewsPath } from './config.js'
import { itemOf, list, type Resource, send, sendForDocument } from './documents.js'

/* Named views, and requests to their endpoints. */

/** The query and display of a view: see the endpoints. */
export interface ShownView {
  /** Filter and sorts as a query string. */
  readonly query: string
  /** The value of `range` in the address; null without one. */
  readonly range: string | null
  readonly display: Readonly<Record<string, string>>
}

export interface View extends ShownView {
  readonly id: string
  readonly name: string
  readonly shared: boolean
  readonly owner: string
}

interface Rights {
  readonly username: string
  readonly may: Readonly<Record<string, boolean>>
}

const rights = signal<Rights | undefined>(undefined)

/** True if the user may do an action, such as `views:create`. False until known. */
export const mayViews = (action: string): boolean => rights.value?.may[`views:${action}`] === true

/** True if the user may do an action with this view. */
export const mayWith = (action: 'update' | 'destroy', view: View): boolean =>
  mayViews(action) && view.owner === rights.value?.username

/** `undefined` until loaded. */
export const views = signal<readonly View[] | undefined>(undefined)

/** The error of the last request for them. */
export const viewsError = signal<Error | undefined>(undefined)

/** The view in the address; `undefined` without a view, and for a view that the user cannot see. */
export const openView = computed(() => views.value?.find(({ id }) => id === members.view.value))

/** The latest call wins: an older response may lack a change. */
let latest = 0

export async function loadViews(): Promise<void> {
  const call = ++latest
  try {
    const read = await list<View>(viewsPath!)
    if (call !== latest) return
    views.value = read
    viewsError.value = undefined
  } catch (error) {
    if (call === latest) viewsError.value = error as Error
  }
}

/** Creates a view, or changes the one with this id. */
export async function saveView(
  id: string | undefined,
  attributes: Partial<Omit<View, 'id' | 'owner'>>,
): Promise<View> {
  const path = id === undefined ? viewsPath! : `${viewsPath}/${id}`
  const body = { data: { type: 'view', attributes } }
  const { data } = await sendForDocument(id === undefined ? 'POST' : 'PATCH', path, body)
  return itemOf(data as Resource) as View
}

export const deleteView = async (id: string): Promise<void> => {
  await send('DELETE', `${viewsPath}/${id}`)
}

async function loadRights(): Promise<void> {
  const { data } = await sendForDocument('GET', `${viewsPath}/me`)
  const { id, attributes } = data as Resource
  rights.value = { username: id, ...(attributes as Omit<Rights, 'username'>) }
}

// Without rights the page shows nothing of views.
if (viewsPath) loadRights().catch(() => undefined)
