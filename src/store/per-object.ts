/** Returns a function that makes a value for each object at its first call, and keeps the value for as long as the object. */
export function perObject<Key extends object, Value>(
  make: (object: Key) => Value,
): (object: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (object) => {
    let value = values.get(object)
    if (value === undefined) values.set(object, (value = make(object)))
    return value
  }
}
