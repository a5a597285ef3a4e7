// A frame without an origin has no localStorage, and pev2 keeps its view's settings there.
try {
  void window.localStorage;
} catch {
  const kept = new Map();
  Object.defineProperty(window, "localStorage", {
    value: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => kept.set(key, String(value)),
      removeItem: (key) => kept.delete(key),
    },
  });
}
