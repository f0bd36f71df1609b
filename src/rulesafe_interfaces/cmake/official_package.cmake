# Whether the robot's manufacturer's own package of this project's name is installed: its messages
# are then used and ours, which have the same names and the same bytes, are not built.
#
# Ours carries a mark, so that a build of ours, in a sourced workspace or in the virtual
# environment, is not taken for the official one.

set(OUR_MARK "${CMAKE_CURRENT_LIST_DIR}/made_by_rulesafe")

function(find_official_package name result)
  set(${result} "" PARENT_SCOPE)
  set(prefixes "${CMAKE_PREFIX_PATH};$ENV{AMENT_PREFIX_PATH};$ENV{CMAKE_PREFIX_PATH}")
  string(REPLACE ":" ";" prefixes "${prefixes}")
  foreach(prefix IN LISTS prefixes)
    set(share "${prefix}/share/${name}")
    if(prefix AND EXISTS "${share}/package.xml" AND NOT EXISTS "${share}/made_by_rulesafe")
      set(${result} "${prefix}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
