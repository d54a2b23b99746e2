/** The fields of a form by name; of a file its name. */
function fieldsOf(form: FormData): object {
  const fields = new Map<string, unknown>()
  for (const name of form.keys()) {
    const values = form
      .getAll(name)
      .map((value) => (typeof value === 'string' ? value : value.name))
    fields.set(name, values.length === 1 ? values[0] : values)
  }
  return Object.fromEntries(fields)
}

/** The files of a form by field. */
const filesOf = (form: FormData): object =>
  Object.fromEntries(
    Array.from(new Set(form.keys()), (name) => [
      name,
      form.getAll(name).filter((value) => typeof value !== 'string'),
    ]),
  )

export interface SentBody {
  readonly body: unknown
  readonly files?: object
}

/** The body of a request as a value, from what a method of the request such as `text` or `formData` returned. */
export function sentBody(read: unknown, contentType: string | null): SentBody {
  if (read instanceof FormData) return { body: fieldsOf(read), files: filesOf(read) }
  if (typeof read !== 'string' || !/[/+]json\b/i.test(contentType ?? '')) return { body: read }
  try {
    return { body: JSON.parse(read) as unknown }
  } catch {
    return { body: read }
  }
}
