/** A date that stands for an instant. Not `instanceof`: a date of another realm is one too. */
export function isValidDate(value: unknown): value is Date {
  try {
    return !Number.isNaN(Date.prototype.getTime.call(value));
  } catch {
    return false;
  }
}
