package threads

// SmallValue is for the tests.
const SmallValue = smallValue
