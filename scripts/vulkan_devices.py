#!/usr/bin/env python3
"""List the Vulkan devices and whether SAPIEN can render on them.

SAPIEN requires `descriptorBindingPartiallyBound`, which Mesa's software driver has only in its
newer releases. Standard library only, since it runs before anything is installed.

Exit code: 0 if SAPIEN can render on a device, 1 if on none, 2 without a Vulkan loader.
"""

import ctypes
import sys

STRUCTURE_INSTANCE = 1
STRUCTURE_FEATURES_2 = 1000059000
STRUCTURE_DESCRIPTOR_INDEXING = 1000161001
PARTIALLY_BOUND = 17  # index among the members of VkPhysicalDeviceDescriptorIndexingFeatures
NAME_OFFSET = 20  # of deviceName in VkPhysicalDeviceProperties
API_1_1 = (1 << 22) | (1 << 12)


class ApplicationInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("application", ctypes.c_char_p),
        ("application_version", ctypes.c_uint32),
        ("engine", ctypes.c_char_p),
        ("engine_version", ctypes.c_uint32),
        ("api_version", ctypes.c_uint32),
    ]


class InstanceInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application", ctypes.POINTER(ApplicationInfo)),
        ("layer_count", ctypes.c_uint32),
        ("layers", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    ]


class IndexingFeatures(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("values", ctypes.c_uint32 * 20),
    ]


class Features2(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("values", ctypes.c_uint32 * 55),
    ]


def devices(vulkan: ctypes.CDLL) -> list:
    """Return (name, can render) of each physical device."""
    application = ApplicationInfo(type=0, api_version=API_1_1)
    info = InstanceInfo(type=STRUCTURE_INSTANCE, application=ctypes.pointer(application))
    instance = ctypes.c_void_p()
    if vulkan.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance)) != 0:
        return []
    count = ctypes.c_uint32()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
    handles = (ctypes.c_void_p * count.value)()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles)
    found = []
    for handle in handles:
        device = ctypes.c_void_p(handle)
        properties = ctypes.create_string_buffer(4096)
        vulkan.vkGetPhysicalDeviceProperties(device, properties)
        name = ctypes.string_at(ctypes.addressof(properties) + NAME_OFFSET).decode()
        indexing = IndexingFeatures(type=STRUCTURE_DESCRIPTOR_INDEXING)
        features = Features2(type=STRUCTURE_FEATURES_2, next=ctypes.addressof(indexing))
        vulkan.vkGetPhysicalDeviceFeatures2(device, ctypes.byref(features))
        found.append((name, bool(indexing.values[PARTIALLY_BOUND])))
    vulkan.vkDestroyInstance(instance, None)
    return found


def main() -> int:
    try:
        vulkan = ctypes.CDLL("libvulkan.so.1")
    except OSError:
        print("no Vulkan loader (libvulkan.so.1)")
        return 2
    found = devices(vulkan)
    for name, usable in found:
        print(name if usable else f"{name} (too old a driver)")
    if not found:
        print("no Vulkan device")
    return 0 if any(usable for _, usable in found) else 1


if __name__ == "__main__":
    sys.exit(main())
