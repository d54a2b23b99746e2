import { useSignal } from '@preact/signals'
import { fault, openManaged, setMember } from '../data/address.js'
import { may } from '../data/managing.js'
import { loadViews, mayViews, mayWith, openView, saveView, type View } from '../data/views.js'
import { copyLink } from '../list/copy-commands.js'
import { isViewChanged, shownView, showView } from '../list/view-state.js'
import { invalidField, onSubmit, TextField, useInvalidFocus } from '../managing/fields.js'
import { ErrorLine, useRunningWith } from '../managing/running.js'
import { Icon } from '../ui/icon.js'
import { showNote } from '../ui/notes.js'
import { viewsTexts as words } from './views-texts.js'

/** True if the user may save changes of a view. */
const maySave = (view: View): boolean =>
  mayWith('update', view) && (!view.shared || mayViews('share'))

/** The open view: its state of change, and actions on the changes. */
function OpenView({ view }: { view: View }) {
  const { error, isBusy, run } = useRunningWith(loadViews)
  const save = (): void =>
    void run(async () => {
      const saved = await saveView(view.id, shownView())
      showNote(words.saved(saved.name))
    })
  return (
    <section class="managed-form" aria-label={view.name} aria-busy={isBusy}>
      <h3>
        <bdi>{view.name}</bdi>
      </h3>
      <p role="status">{isViewChanged.value ? words.changed : words.unchanged}</p>
      {isViewChanged.value && (
        <div class="managed-actions">
          {maySave(view) && !fault.value && (
            <button type="button" class="btn small main" onClick={save}>
              {words.save}
            </button>
          )}
          <button type="button" class="btn small" onClick={() => showView(view)}>
            {words.reopen}
          </button>
        </div>
      )}
      <ErrorLine error={error} />
    </section>
  )
}

/** Form that saves the shown query and display as a new view. */
function SaveForm({ isAnother }: { isAnother: boolean }) {
  const name = useSignal('')
  const isShared = useSignal(false)
  const { error, run } = useRunningWith(loadViews)
  const form = useInvalidFocus(error)
  const submit = onSubmit(
    () =>
      void run(async () => {
        const attributes = { name: name.value, shared: isShared.value, ...shownView() }
        const made = await saveView(undefined, attributes)
        name.value = ''
        isShared.value = false
        showNote(words.created(made.name))
        return () => setMember('view', made.id)
      }),
  )
  const isMoving = shownView().range !== null
  return (
    <form class="managed-form" ref={form} onSubmit={submit}>
      <h3>{isAnother ? words.saveAsTitle : words.saveTitle}</h3>
      <TextField
        label={words.name}
        name="name"
        value={name}
        isRequired
        hint={`${words.saveHint} ${isMoving ? words.movingRange : words.fixedRange}`}
        invalid={invalidField(error)}
      />
      {mayViews('share') && (
        <div class="managed-choice">
          <label>
            <input
              type="checkbox"
              checked={isShared.value}
              onChange={(event) => (isShared.value = event.currentTarget.checked)}
            />
            {words.share}
          </label>
        </div>
      )}
      <ErrorLine error={error} />
      <div class="managed-actions">
        <button type="submit" class="btn small main">
          {words.create}
        </button>
      </div>
    </form>
  )
}

/** Actions on the shown events: saving them as a view, sending them to a colleague, and watching them. */
export function ShownNow() {
  const view = openView.value
  const mayAlert = may('subscriptions:create') && !fault.value
  return (
    <>
      {view && <OpenView view={view} />}
      {mayViews('create') && !fault.value && <SaveForm isAnother={view !== undefined} />}
      <div class="managed-form">
        <div class="managed-actions">
          <button
            type="button"
            class="btn small"
            title={words.linkHint}
            onClick={() => void copyLink()}
          >
            <Icon name="link" />
            {words.copyLink}
          </button>
          {mayAlert && (
            <button
              type="button"
              class="btn small"
              title={words.alertHint}
              onClick={() => openManaged('subscriptions=new')}
            >
              {words.alert}
            </button>
          )}
        </div>
      </div>
    </>
  )
}
