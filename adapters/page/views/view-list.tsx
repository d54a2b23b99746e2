import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  deleteView,
  loadViews,
  mayViews,
  mayWith,
  openView,
  saveView,
  type View,
  views,
} from '../data/views.js'
import { setMember } from '../data/address.js'
import { showView } from '../list/view-state.js'
import { onSubmit } from '../managing/fields.js'
import { ConfirmButton, ErrorLine, type Running, useRunningWith } from '../managing/running.js'
import { showNote } from '../ui/notes.js'
import { viewsTexts as words } from './views-texts.js'

/** Maximum number of rows. The search finds other views. */
const MAX_ROWS = 100

/** Minimum number of views for a search field. */
const MIN_SEARCHED = 6

/** The readers of the view, and its owner. */
function sharingText(view: View): string {
  const isOwn = mayWith('update', view)
  if (view.shared) return isOwn ? words.shared : words.sharedBy(view.owner)
  return isOwn ? words.mine : words.ownedBy(view.owner)
}

interface RowProps {
  readonly view: View
  readonly running: Running
}

/** A field for the new name. */
function Rename({ view, running, close }: RowProps & { close: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [])
  const submit = onSubmit(
    () =>
      void running.run(async () => {
        const saved = await saveView(view.id, { name: field.current!.value })
        showNote(words.saved(saved.name))
        return close
      }),
  )
  return (
    <form class="view-rename" onSubmit={submit}>
      <input
        ref={field}
        required
        maxLength={200}
        defaultValue={view.name}
        aria-label={words.renameTo(view.name)}
        autocomplete="off"
      />
      <button type="submit" class="btn small main">
        {words.save}
      </button>
      <button type="button" class="btn small" onClick={close}>
        {words.cancel}
      </button>
    </form>
  )
}

/** Actions of the owner on the view. */
function Actions({ view, running, rename }: RowProps & { rename: () => void }) {
  const share = (shared: boolean): void =>
    void running.run(async () => {
      const saved = await saveView(view.id, { shared })
      showNote(words.saved(saved.name))
    })
  const remove = (): void =>
    void running.run(async () => {
      await deleteView(view.id)
      if (openView.value?.id === view.id) setMember('view', undefined)
      showNote(words.deleted(view.name))
    })
  const mayChange = mayWith('update', view)
  return (
    <div class="managed-actions">
      {mayChange && (!view.shared || mayViews('share')) && (
        <button type="button" class="btn small" onClick={rename}>
          {words.rename}
        </button>
      )}
      {mayChange && (view.shared || mayViews('share')) && (
        <button type="button" class="btn small" onClick={() => share(!view.shared)}>
          {view.shared ? words.stopSharing : words.startSharing}
        </button>
      )}
      {mayWith('destroy', view) && (
        <ConfirmButton
          label={words.remove}
          question={words.removeQuestion(view.name, view.shared)}
          act={remove}
        />
      )}
    </div>
  )
}

function Row({ view, running }: RowProps) {
  const isRenaming = useSignal(false)
  const isOpen = openView.value?.id === view.id
  const close = (): void => {
    isRenaming.value = false
  }
  return (
    <li>
      {isRenaming.value ? (
        <Rename view={view} running={running} close={close} />
      ) : (
        <button
          type="button"
          class="managed-name"
          aria-current={isOpen}
          onClick={() => showView(view)}
        >
          <bdi>{view.name}</bdi>
        </button>
      )}
      <small>{[isOpen && words.open, sharingText(view)].filter(Boolean).join(' · ')}</small>
      {!isRenaming.value && (
        <Actions view={view} running={running} rename={() => (isRenaming.value = true)} />
      )}
    </li>
  )
}

/** The own and the shared views, with a search. */
export function ViewList() {
  const text = useSignal('')
  const running = useRunningWith(loadViews)
  const all = views.value ?? []
  const part = text.value.trim().toLowerCase()
  const found = all.filter(({ name }) => name.toLowerCase().includes(part))
  const more = found.length - MAX_ROWS
  return (
    <section aria-label={words.list} aria-busy={running.isBusy}>
      {all.length === 0 && (
        <p class="managed-empty">
          <b>{words.empty}.</b> {words.emptyHint}
        </p>
      )}
      {all.length >= MIN_SEARCHED && (
        <div class="managed-form">
          <input
            class="facet-find"
            type="search"
            placeholder={words.find(all.length)}
            aria-label={words.find(all.length)}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </div>
      )}
      <ErrorLine error={running.error} />
      {all.length > 0 && found.length === 0 && (
        <p class="managed-empty">{words.none(text.value)}</p>
      )}
      <ul class="managed-list">
        {found.slice(0, MAX_ROWS).map((view) => (
          <Row key={view.id} view={view} running={running} />
        ))}
      </ul>
      {more > 0 && <p class="managed-empty">{words.more(more)}</p>}
    </section>
  )
}
