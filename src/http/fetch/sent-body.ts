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

/** The body of a request as a value, from what a method of the request such as `text` or `formData` returned. */
export function sentBody(read: unknown, contentType: string | null): unknown {
  if (read instanceof FormData) return fieldsOf(read)
  if (typeof read !== 'string' || !/[/+]json\b/i.test(contentType ?? '')) return read
  try {
    return JSON.parse(read)
  } catch {
    return read
  }
}
